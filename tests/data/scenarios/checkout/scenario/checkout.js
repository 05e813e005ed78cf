// A cart that the seed decides, checked out by an impatient customer: the button is pressed twice.
import http from 'k6/http';
import exec from 'k6/execution';
import { options as traffic, evidence, journeyKey, rng } from './litetraffic/runtime.js';

export const options = traffic();
const shop = __ENV.LT_TARGET;
const json = { 'Content-Type': 'application/json' };

function fill(prices) {
  const next = rng(exec.scenario.iterationInTest);
  const left = Object.keys(prices).sort();
  const lines = [];
  for (let count = 1 + Math.floor(next() * 3); count > 0; count -= 1) {
    const [product] = left.splice(Math.floor(next() * left.length), 1);
    lines.push({ product, quantity: 1 + Math.floor(next() * 9) });
  }
  return lines;
}

export default function () {
  const prices = http.get(`${shop}/catalogue`, { tags: { operation: 'catalogue' } }).json('prices');
  const lines = fill(prices);
  const due = lines.reduce((sum, line) => sum + prices[line.product] * line.quantity, 0);
  const made = http.post(`${shop}/carts`, JSON.stringify({ lines }), { headers: json, tags: { operation: 'cart' } });
  evidence('total-correct', made.status === 201 && made.json('total') === due,
    { expected: due, actual: made.json('total'), detail: JSON.stringify(lines) });

  const cart = made.json('cart');
  const press = { method: 'POST', url: `${shop}/carts/${cart}/checkout`, body: '{}',
    params: { headers: { ...json, 'Idempotency-Key': journeyKey() }, tags: { operation: 'checkout' } } };
  const answers = http.batch([press, press]);
  const statuses = answers.map((answer) => answer.status);
  evidence('answers-known', statuses.every((status) => status === 200 || status === 201), { actual: statuses });

  const orders = http.get(`${shop}/orders?cart=${cart}`, { tags: { operation: 'orders' } }).json('orders');
  const paid = statuses.some((status) => status === 200 || status === 201) ? 1 : 0;
  evidence('charged-once', orders.length === paid, { expected: paid, actual: orders });
}
