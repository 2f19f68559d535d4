// Owns the proof that the approval of a policy file holds for its exact content and path, until it is revoked.

import { describe, expect, test } from 'vitest';
import { createMemoryStore } from '../../../src/kernel/store.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createPolicyTrust } from '../../../src/trust/policy-trust.ts';
import { verifies } from '../../verifies.ts';

const file = '/work/.mcp.json';
const text = '{ "permissions": {} }\n';

function setUp() {
  const store = createMemoryStore(createFakeClock());
  return { store, policy: createPolicyTrust(store) };
}

describe('a file of the workspace', () => {
  verifies('PER-02', 'is approved with its exact content, and not with one character more', async () => {
    const { policy } = setUp();
    expect(await policy.isApproved(file, text)).toBe(false);
    await policy.approve(file, text);
    const others = [`${text} `, ` ${text}`, text.trimEnd(), text.toUpperCase(), text.replace('\n', '\r\n'), ''];
    const judged = await Promise.all([text, ...others].map((each) => policy.isApproved(file, each)));
    expect(judged).toEqual([true, ...others.map(() => false)]);
  });

  verifies('PER-02', 'is approved at its path only, and with its latest approved content only', async () => {
    const { policy } = setUp();
    await policy.approve(file, text);
    expect(await policy.isApproved('/other/.mcp.json', text)).toBe(false);
    await policy.approve(file, 'newer');
    expect([await policy.isApproved(file, text), await policy.isApproved(file, 'newer')]).toEqual([false, true]);
  });

  test('can be revoked, and nothing of its content is stored', async () => {
    const { policy, store } = setUp();
    await policy.approve(file, 's3cret');
    expect(await store.get(`policies/${file}`)).toMatch(/^[0-9a-f]{64}$/);
    await policy.revoke(file);
    expect(await policy.isApproved(file, 's3cret')).toBe(false);
  });

  test.each(['', 'true', '*', '{}'])('is not approved because the store says %j', async (kept) => {
    const { policy, store } = setUp();
    await store.set(`policies/${file}`, kept);
    expect(await policy.isApproved(file, text)).toBe(false);
  });
});
