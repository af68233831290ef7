import { expect, expectNoViolations, test } from './page';

/** Small enough for WebGPU in software and for one thread. */
const SMALL = 'length=16&pairs=2&vocab=16&width=16&heads=1&key=8&value=8&layers=1&batch=2&mlp=0&eval=16';
const FORMS = 2;

test('the benchmark measures rules, forms and lengths, and gives the rows away', async ({ page, open }) => {
  await open(`?bench&${SMALL}&rules=linear,delta&lengths=64,128`);
  const panel = page.getByTestId('bench');
  const standing = page.getByTestId('bench-standing');
  await expect(standing).toContainText('Nothing is measured yet');
  await page.getByTestId('measure').click();
  await expect(standing).toContainText('16 cases measured', { timeout: 300_000 });
  const rows = page.getByTestId('bench-rows').locator('tbody tr');
  await expect(rows).toHaveCount(2 * FORMS * 2);
  const forward = await rows.allInnerTexts();
  expect(forward.every((row) => /%/.test(row) && !/NaN|not a number|infinity/i.test(row))).toBe(true);
  // every curve has a point at each length
  await expect(page.getByTestId('bench-plot').locator('circle')).toHaveCount(2 * FORMS * 2);
  await panel.getByRole('button', { name: 'Forward and backward' }).click();
  await expect(rows).toHaveCount(2 * FORMS * 2);
  expect(await rows.allInnerTexts()).not.toEqual(forward);
  const csv = (await page.getByTestId('csv').textContent()) ?? '';
  const lines = csv.trim().split('\n');
  expect(lines.length).toBe(1 + 16);
  const column = (lines[0] ?? '').split(',').indexOf('median_s');
  expect(lines.slice(1).every((line) => Number(line.split(',')[column]) > 0)).toBe(true);
  await expectNoViolations(page, '[data-testid="bench"]');
});

test('a benchmark can be stopped, and its choice is in the address', async ({ page, open }) => {
  await open(`?bench&${SMALL}&lengths=64,256,1024`);
  const standing = page.getByTestId('bench-standing');
  await page.getByTestId('measure').click();
  await expect(page.getByTestId('bench-rows').locator('tbody tr').first()).toBeVisible({ timeout: 120_000 });
  await page.getByTestId('stop-bench').click();
  await expect(standing).toContainText('the rest was not: it was stopped', { timeout: 120_000 });
  await expect(page.getByTestId('measure')).toBeEnabled();

  await page.getByTestId('bench').getByLabel('1024', { exact: true }).uncheck();
  await expect(page).toHaveURL(/[?&]bench&.*lengths=64%2C256|[?&]bench&.*lengths=64,256(&|$)/);
  await page.reload();
  await expect(page.getByTestId('bench').getByLabel('256', { exact: true })).toBeChecked();
  await expect(page.getByTestId('bench').getByLabel('1024', { exact: true })).not.toBeChecked();
  await page.getByTestId('bench').getByRole('button', { name: 'Close' }).click();
  await expect(page).not.toHaveURL(/bench/);
});
