// Each journey asks for a report of its own from the pool, and knows what must be in it.
import http from 'k6/http';
import { sleep } from 'k6';
import exec from 'k6/execution';
import { options as traffic, evidence, poolItem } from './litetraffic/runtime.js';

export const options = traffic();
const reports = `${__ENV.LT_TARGET}/reports`;
const TRIES = 20;

export default function () {
  const wanted = poolItem(exec.scenario.iterationInTest);
  const asked = http.post(reports, JSON.stringify({ customer: wanted.customer, month: wanted.month }),
    { headers: { 'Content-Type': 'application/json' }, tags: { operation: 'ask' } });
  let report = { state: 'unknown' };
  for (let tries = 0; tries < TRIES && report.state !== 'done'; tries += 1) {
    sleep(0.1);
    report = http.get(`${reports}/${asked.json('report')}`, { tags: { operation: 'fetch' } }).json();
  }
  const done = report.state === 'done';
  evidence('report-done', done, { expected: 'done', actual: report.state });
  evidence('own-report', !done || report.customer === wanted.customer,
    { expected: wanted.customer, actual: report.customer });
  const sum = done ? report.rows.reduce((one, other) => one + other, 0) : null;
  evidence('whole-report', !done || report.customer !== wanted.customer
    || (report.rows.length === wanted.rows && sum === wanted.sum), { expected: wanted, actual: sum });
}
