// Owns reading README.md and docs/*.md: their code blocks with the file names that readers see, their links, their headings.

import { readdirSync, readFileSync } from 'node:fs';
import { root } from './program.ts';

/** From the root of the repository: `README.md`, `docs/calls.md`. */
export const pages: readonly string[] = [
  'README.md',
  ...readdirSync(`${root}docs`)
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

/** Pages that people read without looking into a code host, and those that a contributor reads. */
export const linkedPages: readonly string[] = [
  ...pages,
  ...['AGENTS.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...readdirSync(`${root}docs/decisions`).map((file) => `docs/decisions/${file}`),
];

export const textOf = (page: string): string => readFileSync(root + page, 'utf8');

export interface Block {
  readonly language: string;
  /** Behind the language. Code hosts do not show it, so no page has any. */
  readonly info: string;
  /** The name that ends the line before the block, in backticks: `` `fleet.toml`: ``. Empty if there is none. */
  readonly file: string;
  readonly body: string;
  readonly line: number;
}

export function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```(\S*)[ \t]*(.*)\n([\s\S]*?)^```$/gm)].map(
    ({ 1: language = '', 2: info = '', 3: body = '', index }) => {
      const before = text.slice(0, index).trimEnd();
      const [, file = ''] = /`([\w./-]+\.\w+)`:$/.exec(before) ?? [];
      return { language, info, file, body, line: text.slice(0, index).split('\n').length };
    },
  );
}

/** The text without its code blocks: what is written in them is no link and no heading. */
export const proseOf = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '');

/** As code hosts make them from a heading. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...proseOf(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
