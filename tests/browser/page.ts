import AxeBuilder from '@axe-core/playwright';
import { test as base, expect, type Page } from '@playwright/test';

export { expect };

/** Errors of the page and its workers. A test that leaves one behind fails. */
export class Errors {
  private readonly seen: string[] = [];
  private readonly allowed: RegExp[] = [];

  constructor(page: Page) {
    page.on('console', (message) => {
      if (message.type() === 'error') this.seen.push(`console: ${message.text()} (${message.location().url})`);
    });
    page.on('pageerror', (error) => this.seen.push(`uncaught: ${error.message}`));
    page.on('crash', () => this.seen.push('the page crashed'));
    page.on('requestfailed', (request) => {
      // Leaving a page cancels what it was still loading.
      if (request.failure()?.errorText !== 'net::ERR_ABORTED') this.seen.push(`request: ${request.url()} ${request.failure()?.errorText}`);
    });
  }

  /** Errors that a test causes on purpose. */
  allow(pattern: RegExp): void {
    this.allowed.push(pattern);
  }

  unexpected(): string[] {
    return this.seen.filter((text) => !this.allowed.some((pattern) => pattern.test(text)));
  }
}

/** Takes WebGPU from the page and from its training worker: a flag of the browser leaves `navigator.gpu` in place. */
async function removeWebGpu(page: Page): Promise<void> {
  await page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'gpu'));
  await page.route('**/*-worker_loader.js', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `delete WorkerNavigator.prototype.gpu;\n${await response.text()}` });
  });
}

type Fixtures = {
  errors: Errors;
  /** Opens the page with a settings query such as `?rule=...`, relative to wherever the site is served. */
  open: (query?: string) => Promise<void>;
};

export const test = base.extend<Fixtures>({
  errors: [
    async ({ page }, use) => {
      const errors = new Errors(page);
      await use(errors);
      expect(errors.unexpected(), 'errors of the page').toEqual([]);
    },
    { auto: true },
  ],
  open: async ({ page }, use, { project }) => {
    if (project.name === 'no-webgpu') await removeWebGpu(page);
    await use(async (query = '') => {
      await page.goto(`./${query}`);
    });
  },
});

/** No axe violation of serious or critical impact in the page, or in the part that `within` selects. */
export async function expectNoViolations(page: Page, within?: string): Promise<void> {
  const axe = new AxeBuilder({ page });
  const { violations } = await (within ? axe.include(within) : axe).analyze();
  const grave = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
  expect(grave, 'accessibility violations').toEqual([]);
}

/** The adapter's vendor and architecture, or why there is none. */
export async function adapter(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const gpu = (navigator as { gpu?: { requestAdapter(): Promise<{ info: { vendor: string; architecture: string } } | null> } }).gpu;
    if (!gpu) return 'no navigator.gpu';
    const found = await gpu.requestAdapter();
    return found ? `${found.info.vendor} ${found.info.architecture}` : 'no adapter';
  });
}
