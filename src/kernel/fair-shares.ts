// Owns dividing a total that is too small for all requests: a request below an equal share is granted in full, the others share
// the rest equally.

/** Whole numbers in the order of `wants`; their sum never exceeds `total`. */
export function fairShares(wants: readonly number[], total: number): readonly number[] {
  const shares = wants.map(() => 0);
  const modestFirst = wants.map((want, at) => ({ want, at })).sort((a, b) => a.want - b.want || a.at - b.at);
  let left = total;
  for (const [served, { want, at }] of modestFirst.entries()) {
    const share = Math.min(want, Math.floor(left / (wants.length - served)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}
