// Owns the public surface of "plexus/testing": the fakes of our own tests, for the tests of hosts.

export { createFakeClock, type FakeClock } from './fake-clock.ts';
export { createFakeServer, type FakeServer, type FakeTool } from './fake-server.ts';
export { createScriptedTransport, type ScriptedTransport } from './scripted-transport.ts';
