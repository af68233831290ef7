import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { defineConfig } from '@playwright/test';

const port = Number(process.env.PALIMPSEST_TEST_PORT ?? 4173);

/** The system's Chromium, as `cargo xtask test` finds it: $CHROMIUM first, then the usual names on PATH. */
function chromium(): string | undefined {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const folders = (process.env.PATH ?? '').split(delimiter);
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
    if (found) return found;
  }
  // Playwright's own, if a person installed it.
  return undefined;
}

const quiet = ['--no-sandbox', '--disable-background-networking', '--no-first-run', '--disable-quic', '--disable-component-update', '--disable-sync'];

const launch = (flags: string[]) => ({ launchOptions: { executablePath: chromium(), args: [...quiet, ...flags] } });

export default defineConfig({
  testDir: '.',
  // Both adapters are the CPU: tests side by side would only slow each other down.
  workers: 1,
  fullyParallel: false,
  forbidOnly: Boolean(process.env.CI),
  reporter: 'list',
  timeout: 480_000,
  expect: { timeout: 120_000 },
  use: {
    // The repository is the server's root, so the site stands in a sub-folder: an absolute address in it fails here.
    baseURL: `http://127.0.0.1:${port}/dist/`,
    headless: true,
    trace: 'retain-on-failure',
  },
  projects: [
    { name: 'webgpu', use: launch(['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader']) },
    // page.ts removes `navigator.gpu` in this one
    { name: 'no-webgpu', use: launch([]) },
  ],
  webServer: {
    command: `npx sirv ../.. --dev --quiet --host 127.0.0.1 --port ${port}`,
    url: `http://127.0.0.1:${port}/dist/index.html`,
    reuseExistingServer: false,
    timeout: 30_000,
  },
});
