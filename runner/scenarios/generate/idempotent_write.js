// One write is sent in several copies at once, and must count once. Made from a description: change that, and make it
// again, rather than this file.
import http from 'k6/http';
import * as lt from './litetraffic/runtime.js';

export const options = lt.options();

const kit = null;

function filledIn(value, key) {
  if (typeof value === 'string') return value.replace(/\{journey\}/g, () => key);
  if (Array.isArray(value)) return value.map((item) => filledIn(item, key));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filledIn(item, key)]));
}

function address(path, key) {
  return __ENV.LT_TARGET + filledIn(path, encodeURIComponent(key));
}

// RFC 6901; undefined where there is nothing.
function at(answer, pointer) {
  let place;
  try {
    place = answer.json();
  } catch (_) {
    return undefined;
  }
  for (const part of pointer.split('/').slice(1)) {
    if (place === null || typeof place !== 'object') return undefined;
    place = place[part.replace(/~1/g, '/').replace(/~0/g, '~')];
  }
  return place;
}

function counted(answer) {
  const value = at(answer, kit.count.pointer);
  return Array.isArray(value) ? value.length : value;
}

export default function () {
  const key = lt.journeyKey();
  const token = kit.token_env ? __ENV[kit.token_env] : kit.minted ? lt.tokenFor('sender') : '';
  const headers = token ? { ...kit.headers, Authorization: `Bearer ${token}` } : { ...kit.headers };
  const { write } = kit;
  const sent = { 'Content-Type': 'application/json', ...headers };
  if (write.key_header) sent[write.key_header] = key;
  const body = write.body === null ? null : JSON.stringify(filledIn(write.body, key));
  const copy = { method: write.method, url: address(write.path, key), body,
    params: { headers: sent, redirects: 0, tags: { operation: 'write', name: write.path } } };
  const answers = http.batch(Array.from({ length: kit.copies }, () => copy));

  const statuses = answers.map((answer) => answer.status);
  const taken = answers.filter((answer) => write.statuses.includes(answer.status));
  const known = [...write.statuses, ...write.duplicate_statuses];
  lt.evidence('write_accepted', taken.length > 0 && statuses.every((status) => known.includes(status)),
    { expected: known, actual: statuses });
  if (write.same !== null) {
    const values = taken.map((answer) => at(answer, write.same));
    const alike = values.every((value) => value !== undefined && lt.deepEqual(value, values[0]));
    lt.evidence('same_answer', values.length > 0 && alike, { actual: values.map((value) => value ?? null) });
  }
  if (kit.count !== null) {
    const answer = http.get(address(kit.count.path, key),
      { headers, redirects: 0, tags: { operation: 'count', name: kit.count.path } });
    const count = kit.count.statuses.includes(answer.status) ? counted(answer) : undefined;
    lt.evidence('counted_once', count === 1, { expected: 1, actual: count ?? null });
  }
}
