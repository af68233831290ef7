import { adapter, expect, expectNoViolations, test } from './page';

test('the page loads without errors', async ({ page, open }) => {
  await open();
  await expect(page).toHaveTitle(/Palimpsest/);
  await page.waitForLoadState('networkidle');
  await expectNoViolations(page);
});

test('the project has the adapter that its name says', async ({ page, open }, { project }) => {
  await open();
  const found = await adapter(page);
  if (project.name === 'webgpu') expect(found).toMatch(/swiftshader/i);
  else expect(found).toBe('no navigator.gpu');
});

test('the training worker has what its project says', async ({ page, open }, { project }) => {
  const started = page.waitForEvent('worker');
  await open();
  const worker = await started;
  await expect.poll(() => worker.evaluate(() => 'gpu' in navigator)).toBe(project.name === 'webgpu');
});
