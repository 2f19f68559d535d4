// Owns which promises still lack proof: 'all of it', or the few words that name the missing part.
// A row leaves when its tests land; `requirements.test.ts` pins how many are left.

import type { RequirementId } from './requirements.ts';

export const owed: Partial<Record<RequirementId, string>> = {
  'PER-06': 'the warning of doctor',
  'EVT-11': 'all of it',
  'TDN-04': 'Windows, containers',
  'INT-06': 'the door of Redis',
  'INT-07': 'all of it',
  'EXT-08': 'macOS and Windows, run for real',
  'EXT-14': 'all of it',
  'EXT-22': 'all of it',
  'EXT-23': 'all of it',
  'EXT-24': 'all of it',
  'EXT-27': 'all of it',
  'EXT-28': 'all of it',
  'EXT-34': 'all of it',
  'EXT-35': 'all of it',
  'EXT-36': 'the inbox',
  'EXT-38': 'all of it',
  'EXT-39': 'the dashboard',
  'EXT-40': 'all of it',
  'EXT-41': 'all of it',
  'EXT-42': 'all of it',
  'EXT-43': 'all of it',
  'EXT-45': 'all of it',
};
