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
  else {
    expect(found).toBe('no navigator.gpu');
    const inWorker = await page.evaluate(async () => {
      const source = URL.createObjectURL(new Blob(['postMessage("gpu" in navigator)'], { type: 'text/javascript' }));
      const worker = new Worker(source);
      return new Promise((resolve) => worker.addEventListener('message', ({ data }) => resolve(data)));
    });
    expect(inWorker, 'workers have no navigator.gpu either').toBe(false);
  }
});
