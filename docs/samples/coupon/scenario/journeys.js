import http from 'k6/http';
import exec from 'k6/execution';
import { options as traffic, evidence } from './litetraffic/runtime.js';

export const options = traffic();

export default function () {
  const customer = `customer-${exec.scenario.iterationInTest}`;
  const answer = http.post(`${__ENV.LT_TARGET}/redeem`, customer, { tags: { operation: 'redeem' } });
  evidence('answer-known', answer.status === 200 || answer.status === 409, { actual: answer.status });
}
