// Owns which folder is the home folder of the person that this process runs for.

import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/** An empty or relative `HOME` names none: a person's tokens would end up in whatever folder a program was started in. */
export function homeFolder(): string {
  const named = homedir();
  return isAbsolute(named) ? named : userInfo().homedir;
}
