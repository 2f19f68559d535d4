// Owns the public surface of "plexus/testing": the fakes of our own tests, for the tests of hosts.

export { createFakeClock, type FakeClock } from './fake-clock.ts';
export {
  createFakeServer,
  type FakePrompt,
  type FakeServer,
  type FakeServerOptions,
  type FakeTool,
  type FakeTools,
} from './fake-server.ts';
export { createScriptedTransport, type ScriptedTransport } from './scripted-transport.ts';
