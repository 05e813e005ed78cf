// Each journey changes the price of a product of its own while its word is searched for, then searches for both pages.
import http from 'k6/http';
import exec from 'k6/execution';
import { options as traffic, evidence, deepEqual, rng } from './litetraffic/runtime.js';
import { catalogue, idsOn, pageOf } from './lib/catalogue.js';
import { reprice, search, unsigned } from './lib/signing.js';

export const options = traffic();

function send({ method, url, body, params }) {
  return http.request(method, url, body, params);
}

export default function () {
  const number = exec.scenario.iterationInTest;
  const product = catalogue[number % catalogue.length];
  const page = pageOf(product);
  const price = 10000 + Math.floor(rng(number)() * 10000);

  const [before, changed] = http.batch([search(product.word, page), reprice(product.id, price)]);
  const after = send(search(product.word, page));
  const items = after.json('items') || [];
  const mine = items.find((item) => item.id === product.id) || null;
  evidence('fresh-price', mine === null || mine.price === price,
    { expected: { id: product.id, price }, actual: mine, detail: `${before.status} ${changed.status}` });

  const found = [after, send(search(product.word, 3 - page))].map((answer) => ({
    items: (answer.json('items') || []).map(({ id }) => id), page: answer.json('page'), word: answer.json('word') }));
  const wanted = [page, 3 - page].map((which) => ({ word: product.word, page: which, items: idsOn(product, which) }));
  evidence('right-page', deepEqual(found, wanted), { expected: wanted, actual: found });

  const refused = [unsigned(search(product.word, page), 'unsigned'), unsigned(reprice(product.id, price), 'unsigned')]
    .map((request) => send(request).status);
  evidence('signature-needed', deepEqual(refused, [401, 401]), { expected: [401, 401], actual: refused });
}
