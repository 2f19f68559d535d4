// Owns installing the frameworks before their tests run, once. Where that is impossible the tests are skipped, and say why.

import type { TestProject } from 'vitest/node';
import { installFrameworks } from '../../scripts/frameworks.mjs';
import { PackagesMissing } from '../../scripts/pinned-packages.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** The Node for frameworks that declare Node 22, or why there are no frameworks. */
    readonly frameworks: { readonly newerNode: string } | { readonly missing: string };
  }
}

export function setup(project: TestProject): void {
  try {
    project.provide('frameworks', { newerNode: installFrameworks() });
  } catch (error) {
    if (!(error instanceof PackagesMissing)) throw error;
    console.error(`NOT RUN: the tests with real frameworks: ${error.message}`);
    project.provide('frameworks', { missing: error.message });
  }
}
