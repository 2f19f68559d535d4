// Owns that every property test of a run draws from the one seed that was printed. Loaded before each file of the unit tests.

import fc from 'fast-check';
import { seed } from './effort.ts';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
