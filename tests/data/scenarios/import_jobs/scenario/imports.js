// Uploads the lines of one customer, and waits until they are imported.
import http from 'k6/http';
import { sleep } from 'k6';
import exec from 'k6/execution';
import { options as traffic, evidence, poolItem, stage } from './litetraffic/runtime.js';

export const options = traffic();
const office = __ENV.LT_TARGET;
const { batch } = JSON.parse(__ENV.LT_FIXTURE_JSON);
const TRIES = 20;

export default function () {
  const { customer, lines } = poolItem(exec.scenario.iterationInTest);
  stage('uploaded');
  const upload = http.post(`${office}/jobs`, JSON.stringify({ batch, customer, lines }),
    { headers: { 'Content-Type': 'application/json' }, tags: { operation: 'upload' } });
  if (upload.status === 202) stage('accepted');
  let job = { state: 'unknown' };
  for (let tries = 0; tries < TRIES && upload.status === 202 && job.state !== 'done'; tries += 1) {
    sleep(0.1);
    job = http.get(`${office}/jobs/${upload.json('job')}`, { tags: { operation: 'poll' } }).json();
  }
  const done = job.state === 'done';
  if (done) stage('imported');
  evidence('import-ends', done, { expected: 'done', actual: job.state });
  evidence('rows-exact', !done || job.rows === lines.length, { expected: lines.length, actual: job.rows });
}
