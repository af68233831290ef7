import { adapter, expect, expectNoViolations, test } from './page';

/** Small enough for WebGPU in software. */
const SMALL = 'length=16&pairs=2&vocab=16&width=16&heads=1&key=8&value=8&layers=1&batch=8&mlp=0&eval=32&eval_every=10&warmup=5';
/** Learned within 150 steps by the simplest delta rule. */
const NEEDLE =
  'task=needle&rule=delta&length=16&width=32&heads=1&key=16&value=16&batch=32&steps=150&lr=0.01&mlp=0&warmup=10&eval=64&disjoint=1';

/** Learned to 99 % within 160 steps by every rule that was tried: see the rules below. */
const MQAR =
  'task=mqar&length=16&pairs=2&vocab=16&width=32&heads=1&key=16&value=16&layers=2&batch=32&mlp=0&lr=0.01&warmup=10&eval=128&eval_every=20';
/** One rule by default, as software WebGPU takes a minute for each; PALIMPSEST_TEST_RULES=delta,gdn,gdn2,eda,qed tries them all. */
const LEARNERS = (process.env.PALIMPSEST_TEST_RULES ?? 'gdn').split(',');

const standing = (page: import('@playwright/test').Page) => page.getByTestId('standing');

/** Held-out accuracy in per cent, as the page shows it. */
const accuracyShown = async (page: import('@playwright/test').Page) =>
  Number(/([\d.]+)\s*%/.exec((await page.getByTestId('accuracy').textContent()) ?? '')?.[1]);

test('shows the untrained memory at once, and says so', async ({ page, open }) => {
  await open(`?${SMALL}`);
  await expect(standing(page)).toContainText('untrained');
  await expect(page.getByTestId('here')).not.toContainText('comes with the model');
  await expectNoViolations(page);
});

test('the badge names what computes', async ({ page, open }, { project }) => {
  await open(`?${SMALL}`);
  await expect(page.getByTestId('badge')).toContainText(project.name === 'webgpu' ? 'WebGPU' : 'CPU');
  if (project.name !== 'webgpu') await expect(page.getByTestId('fallback')).toContainText('CPU');
});

test('trains, pauses, steps and resets', async ({ page, open }) => {
  await open(`?${SMALL}&steps=100000`);
  await expect(standing(page)).toContainText('untrained');
  await page.getByTestId('train').click();
  await expect(standing(page)).toContainText('Training');
  await expect(page.getByTestId('accuracy')).toContainText('%');
  await page.getByTestId('train').click();
  await expect(standing(page)).toContainText('Paused after step');
  const before = Number(/step (\d+)/.exec((await standing(page).textContent()) ?? '')?.[1]);
  await page.getByRole('button', { name: 'Step', exact: true }).click();
  await expect(standing(page)).toContainText(`Paused after step ${before + 1}`);
  await page.getByRole('button', { name: 'Reset', exact: true }).click();
  await expect(standing(page)).toContainText('untrained');
});

test('trains two rules in turn and shows both curves', async ({ page, open }) => {
  await open(`?${SMALL}&steps=30&rules=delta,gdn2`);
  await expect(standing(page)).toContainText('untrained');
  await page.getByTestId('in-turn').click();
  const runs = page.getByTestId('runs').locator('tbody tr');
  await expect(runs).toHaveCount(2, { timeout: 120_000 });
  await expect(standing(page)).toContainText('Done after 30 steps', { timeout: 120_000 });
  await expect(runs.filter({ hasText: '%' })).toHaveCount(2);
  const names = await runs.getByLabel('Name of this run').evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).value));
  expect(names).toEqual(expect.arrayContaining([expect.stringContaining('DeltaNet'), expect.stringContaining('GDN-2')]));
  expect(await page.getByTestId('curves').locator('path, polyline').count()).toBeGreaterThanOrEqual(2);
  await expectNoViolations(page);
});

test('learns the needle task', async ({ page, open }) => {
  await open(`?${NEEDLE}`);
  await expect(standing(page)).toContainText('untrained', { timeout: 60_000 });
  await page.getByTestId('train').click();
  await expect(standing(page)).toContainText('Done after 150 steps', { timeout: 400_000 });
  const accuracy = await accuracyShown(page);
  expect(accuracy).toBeGreaterThan(90);
});

for (const rule of LEARNERS) {
  test(`learns multi-query associative recall with ${rule}`, async ({ page, open }, { project }) => {
    await open(`?${MQAR}&rule=${rule}&steps=160`);
    await expect(standing(page)).toContainText('untrained', { timeout: 60_000 });
    await page.getByTestId('train').click();
    await expect(standing(page)).toContainText('Done after 160 steps', { timeout: 460_000 });
    const row = page.getByTestId('runs').locator('tbody tr').first();
    console.log(`${project.name} (${await adapter(page)}): ${rule} ${(await row.innerText()).replace(/\s+/g, ' ')}`);
    const accuracy = await accuracyShown(page);
    expect(accuracy).toBeGreaterThanOrEqual(99);
  });
}

test('the scrubber and the keys move the matrix', async ({ page, open }) => {
  await open(`?${SMALL}`);
  await expect(standing(page)).toContainText('untrained');
  const words = page.getByTestId('state-words');
  await page.getByTestId('scrubber').fill('1');
  const first = await words.textContent();
  await page.getByTestId('scrubber').fill('5');
  await expect(words).not.toHaveText(first ?? '');
  const fifth = await words.textContent();
  await page.getByRole('heading', { name: 'Sequence' }).click();
  await page.keyboard.press('ArrowRight');
  await expect(words).not.toHaveText(fifth ?? '');
});

test('the address holds the settings, both ways', async ({ page, open }) => {
  await open(`?${SMALL}&rule=eda`);
  await expect(standing(page)).toContainText('untrained');
  await expect(page.getByLabel('Update rule')).toHaveValue('eda');
  await page.getByLabel('Update rule').selectOption('kda');
  await expect(page).toHaveURL(/rule=kda/);
  await page.reload();
  await expect(page.getByLabel('Update rule')).toHaveValue('kda');
  await expect(page).toHaveURL(/v=1/);
});

test('a bad link is explained', async ({ page, open }) => {
  await open(`?${SMALL}&rul=eda&lr=fast`);
  const notes = page.getByText('lr=fast is not a number');
  await expect(notes).toBeVisible();
  await expect(page.getByText('rul is not a setting')).toBeVisible();
});

test('the link can ask for the CPU', async ({ page, open }) => {
  await open(`?${SMALL}&backend=cpu`);
  await expect(page.getByTestId('badge')).toContainText('CPU');
  await expect(page.getByTestId('fallback')).toContainText('ask for the CPU');
});

test('the self-check finds that this device computes right', async ({ page, open }, { project }) => {
  test.slow();
  await open(`?${SMALL}&selfcheck`);
  await expect(page.getByTestId('verdict')).toContainText(/\d+ passed, 0 failed/, { timeout: 500_000 });
  console.log(`${project.name} (${await adapter(page)}): ${await page.getByTestId('verdict').textContent()}`);
});
