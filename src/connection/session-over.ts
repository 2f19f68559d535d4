// Owns a session that passes everything on to another one. Whoever changes part of a session extends it: a copy of the session
// with functions of its own costs a kilobyte for every server.

import type { Session } from './session.ts';

export abstract class SessionOver implements Session {
  protected readonly inner: Session;

  constructor(inner: Session) {
    this.inner = inner;
  }

  get origin(): Session['origin'] {
    return this.inner.origin;
  }

  get era(): Session['era'] {
    return this.inner.era;
  }

  get transport(): Session['transport'] {
    return this.inner.transport;
  }

  get protocolVersion(): Session['protocolVersion'] {
    return this.inner.protocolVersion;
  }

  get capabilities(): Session['capabilities'] {
    return this.inner.capabilities;
  }

  get instructions(): Session['instructions'] {
    return this.inner.instructions;
  }

  get serverInfo(): Session['serverInfo'] {
    return this.inner.serverInfo;
  }

  get pid(): Session['pid'] {
    return this.inner.pid;
  }

  get ended(): Session['ended'] {
    return this.inner.ended;
  }

  request(...args: Parameters<Session['request']>): ReturnType<Session['request']> {
    return this.inner.request(...args);
  }

  callTool(...args: Parameters<Session['callTool']>): ReturnType<Session['callTool']> {
    return this.inner.callTool(...args);
  }

  requestWithInput(...args: Parameters<Session['requestWithInput']>): ReturnType<Session['requestWithInput']> {
    return this.inner.requestWithInput(...args);
  }

  cancelRequestsOf(owner: object): void {
    this.inner.cancelRequestsOf(owner);
  }

  notify(...args: Parameters<Session['notify']>): void {
    this.inner.notify(...args);
  }

  onNotification(...args: Parameters<Session['onNotification']>): ReturnType<Session['onNotification']> {
    return this.inner.onNotification(...args);
  }

  takeActivity(): boolean {
    return this.inner.takeActivity();
  }

  usage(): ReturnType<Session['usage']> {
    return this.inner.usage();
  }

  callsInFlight(): number {
    return this.inner.callsInFlight();
  }

  whenQuiet(): Promise<void> {
    return this.inner.whenQuiet();
  }

  keep(): () => void {
    return this.inner.keep();
  }

  isShared(): boolean {
    return this.inner.isShared();
  }

  onParted(...args: Parameters<Session['onParted']>): ReturnType<Session['onParted']> {
    return this.inner.onParted(...args);
  }

  markLost(reason: string): void {
    this.inner.markLost(reason);
  }

  report(): ReturnType<Session['report']> {
    return this.inner.report();
  }

  close(reason?: string): Promise<void> {
    return this.inner.close(reason);
  }
}
