import http from 'k6/http';
import { options as traffic, evidence, journeyKey } from './litetraffic/runtime.js';

export const options = traffic();

export default function () {
  const seats = `${__ENV.LT_TARGET}/rooms/${__ENV.LT_FIXTURE_ID}/seats`;
  const answer = http.post(seats, journeyKey(), { tags: { operation: 'book' } });
  evidence('answer-known', answer.status === 201 || answer.status === 409, { actual: answer.status });
}
