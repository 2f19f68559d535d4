// Owns dividing what is too little for all: who wants less than an equal part gets it whole, the others share the rest equally.

/** In the order of `wants`, whole numbers; together never more than `total`. */
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
