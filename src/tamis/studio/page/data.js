// What the server tells: the small state as it changes, and the large arrays once.

const ARRAYS = {
  uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, uint32: Uint32Array,
  float32: Float32Array, float64: Float64Array,
};

export const FREE = 0, KEEP = 1, DROP = 2, ASIDE = 3, UNUSED = 4;

export async function ask(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(await complaint(answer));
  const told = await answer.json();
  if (told.error) throw new NotThere(told.error);
  return told;
}

// Asked for what has been replaced meanwhile: news of that is on its way.
export class NotThere extends Error {}

async function complaint(answer) {
  const text = await answer.text();
  try {
    return JSON.parse(text).error || text;
  } catch {
    return text;
  }
}

export async function arrays(name) {
  const answer = await fetch(`data/${name}`);
  if (!answer.ok) throw new Error(await complaint(answer));
  if (answer.headers.get("Content-Type").startsWith("application/json")) {
    throw new NotThere((await answer.json()).error);
  }
  const buffer = await answer.arrayBuffer();
  const size = Number(new DataView(buffer).getBigUint64(0, true));
  const { fields, ...rest } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  for (const field of fields) {
    rest[field.name] = new ARRAYS[field.type](buffer, 8 + size + field.at, field.length);
  }
  return rest;
}

export async function act(wish) {
  const answer = await fetch("act", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(wish),
  });
  if (!answer.ok) throw new Error(await complaint(answer));
  return answer.json();
}

export async function send(file) {
  const answer = await fetch(`table/${encodeURIComponent(file.name)}`, { method: "POST", body: file });
  if (!answer.ok) throw new Error(await complaint(answer));
}

export function listen(changed, lost) {
  const source = new EventSource("events");
  source.addEventListener("message", (event) => changed(JSON.parse(event.data)));
  source.addEventListener("error", () => lost(source.readyState === EventSource.CLOSED));
  addEventListener("pagehide", () => source.close());
  return source;
}

// The columns of the table and what is known of them, whatever the number that is kept.
export class Columns {
  constructor(table) {
    this.names = table.names;
    this.bars = table.bars;
    this.nBins = table.n_bins;
    this.gaps = table.gaps;
    this.kinds = table.kinds;
    this.n = table.names.length;
    this.folded = table.names.map((name) => name.toLowerCase());
    this.ranks = new Uint32Array(this.n);
    this.states = new Uint8Array(this.n).fill(UNUSED);
    this.scores = new Float32Array(this.n).fill(NaN);
    this.byRank = new Uint32Array(0);
    this.rankOf = new Uint32Array(this.n);
    this.lowest = 0;
    this.reach = 1;
    this.nearest = null;
    this.number = 0;
    this.stands = new Uint32Array(this.n);
  }

  rank(ranking) {
    this.ranks = ranking.ranks;
    this.states = ranking.states;
    this.scores = ranking.scores;
    const ranked = [];
    for (let j = 0; j < this.n; j++) if (this.ranks[j]) ranked.push(j);
    ranked.sort((a, b) => this.ranks[a] - this.ranks[b]);
    this.byRank = Uint32Array.from(ranked);
    // Places without gaps: columns set aside have none.
    this.rankOf = new Uint32Array(this.n);
    ranked.forEach((j, place) => { this.rankOf[j] = place + 1; });
    let low = 0, high = 0;
    for (const j of ranked) {
      const score = this.scores[j];
      if (score < low) low = score;
      if (score > high) high = score;
    }
    this.lowest = low;
    this.reach = high - low || 1;
    this.nearest = null;
  }

  relate(nearest) {
    this.nearest = nearest;
    this.count();
  }

  kept(j) {
    return this.rankOf[j] > 0 && this.rankOf[j] <= this.number;
  }

  keep(number) {
    this.number = Math.max(1, Math.min(number, this.byRank.length));
    this.count();
  }

  // The kept column that a column is most like: the last one that joined.
  leader(j) {
    const near = this.nearest;
    if (!near) return null;
    let found = -1;
    for (let at = near.starts[j]; at < near.starts[j + 1] && near.rank[at] < this.number; at++) {
      found = at;
    }
    return found < 0 ? null : { column: this.byRank[near.rank[found]], alike: near.alike[found] / 127 };
  }

  // How many columns that are not kept each kept one stands for.
  count() {
    const near = this.nearest;
    this.stands.fill(0);
    if (!near) return;
    const { starts, rank, alike } = near, { rankOf, number, byRank, stands } = this;
    for (let j = 0; j < this.n; j++) {
      if (rankOf[j] <= number) continue;
      let found = -1;
      for (let at = starts[j]; at < starts[j + 1] && rank[at] < number; at++) found = at;
      if (found >= 0 && Math.abs(alike[found]) >= 0.7 * 127) stands[byRank[rank[found]]]++;
    }
  }
}
