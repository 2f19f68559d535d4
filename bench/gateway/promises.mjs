// Owns what the gateway promises about its speed, in the form of `../promises.mjs`: `hand` is a pass-through written by hand, `rivals`
// the best of the other gateways.

export const promises = [
  { row: 'gateway.rate', against: 'rivals', atLeast: 1.4 },
  { row: 'gateway.rate', against: 'hand', atLeast: 0.75 },
  { row: 'gateway.added', against: 'rivals', atMost: 0.6, holds: 0.75 },
  { row: 'gateway.cpu', against: 'hand', atMost: 1.4 },
  { row: 'gateway.memory', atMost: 100 },
];
