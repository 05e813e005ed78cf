// What the shop has, in its order. k6 opens the file once, before the load.
const PAGE = 2;
export const catalogue = JSON.parse(open('../data/catalogue.json'));

function alike(product) {
  return catalogue.filter(({ word }) => word === product.word);
}

export function pageOf(product) {
  return Math.floor(alike(product).indexOf(product) / PAGE) + 1;
}

export function idsOn(product, page) {
  return alike(product).slice((page - 1) * PAGE, page * PAGE).map(({ id }) => id);
}
