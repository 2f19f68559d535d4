// Owns which versions of the frameworks the adapters are tested with, and what a host reads whose framework hands over something else.

/** As in `peerDependencies` of package.json. */
export const knownVersions = {
  '@anthropic-ai/sdk': '^1.0.0',
  '@google/genai': '^2.0.0',
  '@openai/agents': '^0.20.0',
} as const;

/** The problem is a whole sentence. */
export function unknownVersion(framework: keyof typeof knownVersions, problem: string): TypeError {
  return new TypeError(`${problem} Known to work: ${framework} ${knownVersions[framework]}.`);
}
