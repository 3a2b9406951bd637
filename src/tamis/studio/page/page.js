// What all parts of the page know: the state as the server told it, the columns, and the number of
// those that are kept as it is shown, which is ahead of what was decided while it is slid.

import { act, NotThere } from "./data.js";
import { $ } from "./dom.js";

export let state = null;
export let columns = null;
export let number = 0;

export const setState = (now) => { state = now; };
export const setColumns = (now) => { columns = now; };
export const setShown = (now) => { number = now; };

export function complain(error) {
  if (error instanceof NotThere) return;
  $("alert-text").textContent = error.message || String(error);
  $("alert").hidden = false;
}

export const doing = (wish) => act(wish).catch(complain);

export const kindName = (j) => Object.values(state.kinds)[columns.kinds[j]];
