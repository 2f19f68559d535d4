// Owns which requests the faults strike: the stage, how many are spared first, and how many are struck.

import { appendFileSync, existsSync, readFileSync, renameSync } from 'node:fs';
import { faults } from './faults.mjs';

const stages = {
  initialize: 'initialize',
  'server/discover': 'initialize',
  'notifications/initialized': 'initialized',
  'tools/list': 'list',
  'tools/call': 'call',
  ping: 'ping',
  'subscriptions/listen': 'listen',
  open: 'open',
};

export function createPlan(options) {
  const [name] = options.fault.filter((each) => faults[each]?.run);
  const fault = name && faultOf(name, options);
  const times = Number(options.times ?? Number.POSITIVE_INFINITY);
  const spared = Number(options.after);
  const remembered = createTally(options.tally);

  return {
    /** The fault, if it strikes now. */
    strike(method) {
      const stage = stages[method];
      const bomb = takeBomb(options, stage);
      if (bomb) return bomb;
      const { at } = options;
      const isAimedAt = at.includes(stage) || at.includes(method) || (at.includes('any') && stage !== 'open');
      if (!fault || !isAimedAt) return undefined;
      const count = remembered();
      return count > spared && count <= spared + times ? fault : undefined;
    },
    listed() {
      if (!options.fault.includes('flap') || remembered() > times) return;
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(options.ms));
    },
  };
}

function faultOf(name, options) {
  const { run, when = 'after' } = faults[name];
  return { when: options.when ?? when, run: (exchange, answer) => run(exchange, answer, options) };
}

/** One fault for the next request of its stage, left in a file from outside; it goes off once, in whichever life. */
function takeBomb(options, stage) {
  if (options.bomb === undefined || !existsSync(options.bomb)) return undefined;
  const { fault, at, ...rest } = JSON.parse(readFileSync(options.bomb, 'utf8'));
  if (at !== stage) return undefined;
  renameSync(options.bomb, `${options.bomb}.gone`);
  return faultOf(fault, { ...options, ...rest });
}

/** A byte per request, so that a process that comes back goes on counting where the last one died. */
function createTally(file) {
  let count = 0;
  return () => {
    if (file === undefined) return ++count;
    appendFileSync(file, '.');
    return readFileSync(file).length;
  };
}
