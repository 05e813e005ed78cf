// Two identities ask for what is theirs, and for what is the other's. Made from a description: change that, and make
// it again, rather than this file.
import http from 'k6/http';
import * as lt from './litetraffic/runtime.js';

export const options = lt.options();

const kit = null;

const SHOWN = 5;
const reads = kit.endpoints.filter((endpoint) => endpoint.kind === 'read');
const writes = kit.endpoints.filter((endpoint) => endpoint.kind === 'write');

// A cookie that the application sets for one is never sent for another, nor in the next journey.
function session(identity) {
  const token = identity.token_env ? __ENV[identity.token_env] : identity.minted ? lt.tokenFor(identity.name) : '';
  const headers = token ? { ...identity.headers, Authorization: `Bearer ${token}` } : { ...identity.headers };
  return { identity, headers, jar: new http.CookieJar() };
}

function filled(text, values, encode) {
  return text.replace(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name) =>
    Object.prototype.hasOwnProperty.call(values, name) ? encode(values[name]) : whole);
}

function filledIn(value, values) {
  if (typeof value === 'string') return filled(value, values, String);
  if (Array.isArray(value)) return value.map((item) => filledIn(item, values));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filledIn(item, values)]));
}

function ask(who, endpoint, resource, operation) {
  const everything = { ...resource, journey: lt.journeyKey() };
  const path = filled(endpoint.path, endpoint.journey_in_path ? everything : resource, encodeURIComponent);
  const body = endpoint.body === null ? null : JSON.stringify(filledIn(endpoint.body, everything));
  const headers = body === null ? who.headers : { 'Content-Type': 'application/json', ...who.headers };
  return http.request(endpoint.method, __ENV.LT_TARGET + path, body,
    { headers, jar: who.jar, redirects: 0, tags: { operation, name: endpoint.name } });
}

function found(answer, identity) {
  const text = answer.body || '';
  const indexes = identity.markers.map((marker, index) => (text.includes(marker) ? index : -1));
  return indexes.filter((index) => index >= 0);
}

// What each assertion came to in the journey at hand: never a body, and never a marker, only whose, and which.
let checks;

function tell(assertion, passed, who, endpoint, resource, seen) {
  if (!(assertion in checks)) checks[assertion] = { total: 0, failed: [] };
  checks[assertion].total += 1;
  if (!passed) {
    checks[assertion].failed.push({ identity: who, method: endpoint.method, path: endpoint.path, resource, ...seen });
  }
}

function accept(assertion, who, endpoint, resource, statuses, answer) {
  tell(assertion, statuses.includes(answer.status), who, endpoint, resource,
    { expected: statuses, status: answer.status });
}

function refuse(assertion, who, endpoint, resource, answer, owner) {
  const indexes = found(answer, owner);
  const seen = { expected: kit.refused, status: answer.status };
  if (indexes.length > 0) seen.markers = { identity: owner.name, indexes };
  tell(assertion, kit.refused.includes(answer.status) && indexes.length === 0, who, endpoint, resource, seen);
}

function own(owner, other, endpoint, resource) {
  const answer = ask(owner, endpoint, resource, 'own');
  if (kit.marked) {
    const indexes = found(answer, other.identity);
    tell('no_foreign_data_in_own_responses', indexes.length === 0, owner.identity.name, endpoint, resource,
      { markers: { identity: other.identity.name, indexes } });
  }
  return answer;
}

function state(answer) {
  let body = answer.body;
  try {
    body = answer.json();
  } catch (_) {
    // It is no JSON, and compared as text.
  }
  return { status: answer.status, body };
}

function write(owner, other, endpoint, resource) {
  const back = kit.endpoints[endpoint.read_back];
  const before = state(own(owner, other, back, resource));
  refuse('cross_tenant_write_blocked', other.identity.name, endpoint, resource,
    ask(other, endpoint, resource, 'cross_tenant'), owner.identity);
  const after = state(own(owner, other, back, resource));
  tell('victim_unchanged', lt.deepEqual(before, after), other.identity.name, endpoint, resource,
    { before: before.status, after: after.status });
}

function probe(owner, other, resource) {
  for (const endpoint of kit.endpoints) {
    if (endpoint.kind === 'read' || endpoint.check_own) {
      accept('own_access', owner.identity.name, endpoint, resource, endpoint.statuses,
        own(owner, other, endpoint, resource));
    }
  }
  for (const endpoint of reads) {
    refuse('cross_tenant_read_blocked', other.identity.name, endpoint, resource,
      ask(other, endpoint, resource, 'cross_tenant'), owner.identity);
    if (kit.nobody) {
      refuse('unauthenticated_rejected', 'nobody', endpoint, resource,
        ask({ headers: {}, jar: new http.CookieJar() }, endpoint, resource, 'unauthenticated'), owner.identity);
    }
  }
  for (const endpoint of writes) write(owner, other, endpoint, resource);
}

export default function () {
  checks = {};
  const [first, second] = kit.identities.map(session);
  for (const resource of first.identity.resources) probe(first, second, resource);
  for (const resource of second.identity.resources) probe(second, first, resource);
  for (const [assertion, { total, failed }] of Object.entries(checks)) {
    lt.evidence(assertion, failed.length === 0, { expected: [], actual: failed.slice(0, SHOWN),
      detail: `${failed.length} of ${total} checks failed` });
  }
}
