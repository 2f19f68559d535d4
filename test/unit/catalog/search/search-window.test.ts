// Owns the proof that the search of a catalog follows every change of it.

import { expect } from 'vitest';
import { Catalog } from '../../../../src/catalog/catalog.ts';
import { limits } from '../../../../src/model/limits.ts';
import { createFakeClock } from '../../../../src/testing/fake-clock.ts';
import { verifies } from '../../../verifies.ts';
import { definitionOf } from '../../session.ts';
import { createSession } from '../session.ts';

verifies(
  'SRC-06',
  'what a server lists anew is found at once, what it no longer lists is not, nor what went with it',
  async () => {
    const clock = createFakeClock();
    const catalog = new Catalog({ clock, emit: () => undefined });
    let listed = [{ name: 'moon_phase', description: 'How full the moon is.' }];
    const sky = createSession(() => ({ kind: 'result', result: { tools: listed } }));
    const other = createSession(() => ({ kind: 'result', result: { tools: [{ name: 'add' }] } }));
    const found = (query: string) => catalog.search(query).map(({ tool }) => tool.name);
    await catalog.list(definitionOf('sky'), sky);
    await catalog.list(definitionOf('sums'), other);
    expect([found('moon'), found('weather'), found('add')]).toEqual([['mcp__sky__moon_phase'], [], ['mcp__sums__add']]);

    // The same name and as many tools as before: only the words differ.
    listed = [{ name: 'moon_phase', description: 'The weather on it.' }];
    catalog.announce(definitionOf('sky'), sky);
    await clock.advance(limits.listChangedMs);
    expect(found('weather')).toEqual(['mcp__sky__moon_phase']);

    listed = [{ name: 'forecast', description: 'Rain or sun.' }];
    await catalog.list(definitionOf('sky'), sky);
    expect([found('moon'), found('forecast')]).toEqual([[], ['mcp__sky__forecast']]);
    expect(catalog.nearestWords('foorecaasts')).toEqual(['forecast']);

    catalog.remove('sky');
    expect([found('forecast'), catalog.nearestWords('foorecaasts'), found('add')]).toEqual([
      [],
      [],
      ['mcp__sums__add'],
    ]);
  },
);
