// Tenants write notes in one workspace at a time, and look at what they see: their own notes, and nobody else's.
import http from 'k6/http';
import encoding from 'k6/encoding';
import exec from 'k6/execution';
import { options as traffic, evidence, journeyKey, tokenFor } from './litetraffic/runtime.js';

export const options = traffic();
const notes = `${__ENV.LT_TARGET}/workspaces/${__ENV.LT_FIXTURE_ID}/notes`;
const ANYBODY = 'member-0';

function asking(operation, token) {
  const headers = { 'Content-Type': 'application/json' };
  if (token) headers.Authorization = `Bearer ${token}`;
  return { headers, tags: { operation } };
}

function claimsOf(token) {
  return JSON.parse(encoding.b64decode(token.split('.')[1], 'rawurl', 's'));
}

// The own token with another tenant in it, and a signature that is not its own any more.
function forged(token, tenant) {
  const [head, , signature] = token.split('.');
  const claims = JSON.stringify({ ...claimsOf(token), tenant });
  return [head, encoding.b64encode(claims, 'rawurl'), signature].join('.');
}

export default function () {
  const token = tokenFor('Notes member', exec.scenario.iterationInTest);
  const { tenant, run } = claimsOf(token);
  const text = journeyKey();
  const written = http.post(notes, JSON.stringify({ text }), asking('write', token));
  evidence('note-taken', written.status === 201 && run === __ENV.LT_RUN_ID, { expected: 201, actual: written.status });

  const seen = http.get(notes, asking('list', token)).json('notes') || [];
  const others = seen.filter((note) => note.author !== tenant);
  evidence('own-rows-only', others.length === 0, { expected: [], actual: others });

  const rival = tenant === ANYBODY ? 'member-1' : ANYBODY;
  const wrong = [http.get(notes, asking('forged', forged(token, rival))), http.get(notes, asking('nobody'))];
  evidence('strangers-refused', wrong.every((answer) => answer.status === 401),
    { expected: [401, 401], actual: wrong.map((answer) => answer.status) });
}
