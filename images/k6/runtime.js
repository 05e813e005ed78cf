// The runtime helper that scenarios import as ./litetraffic/runtime.js: the schedule as k6 options, evidence and stages
// as LT_EVENT lines, and values that depend on nothing but the seed. Its exports and formats are LiteTraffic's.
import crypto from 'k6/crypto';
import exec from 'k6/execution';

const DETAIL = 500;
const EVENT = 'LT_EVENT ';

function parsed(name) {
  const text = __ENV[name];
  return text === undefined || text === '' ? undefined : JSON.parse(text);
}

// One scenario that admits every planned journey: each phase is held at its rate, and rates jump between them. The last
// half second is for the journey that is due at the very end.
export function options() {
  const phases = parsed('LT_SCHEDULE_JSON');
  const most = Number(__ENV.LT_MAX_IN_FLIGHT);
  const stages = [];
  let rate = phases[0].rate;
  const start = rate;
  for (const phase of phases) {
    if (phase.rate !== rate) stages.push({ target: phase.rate, duration: '0s' });
    stages.push({ target: phase.rate, duration: `${phase.seconds}s` });
    rate = phase.rate;
  }
  if (rate !== 1) stages.push({ target: 1, duration: '0s' });
  stages.push({ target: 1, duration: '500ms' });
  return {
    maxRedirects: 0,
    scenarios: {
      traffic: {
        executor: 'ramping-arrival-rate',
        startRate: start,
        timeUnit: '1s',
        preAllocatedVUs: most,
        maxVUs: most,
        stages,
      },
    },
  };
}

export function journeyKey() {
  return `${__ENV.LT_RUN_ID}-${exec.scenario.name}-${exec.scenario.iterationInTest}`;
}

function tell(fields) {
  console.log(EVENT + JSON.stringify(Object.assign({ schema_version: 1, run_id: __ENV.LT_RUN_ID }, fields)));
}

export function evidence(id, passed, given) {
  const more = given || {};
  const event = { type: 'assertion', assertion: id, passed,
    logical_key: more.logicalKey === undefined ? journeyKey() : String(more.logicalKey) };
  if (more.expected !== undefined) event.expected = more.expected;
  if (more.actual !== undefined) event.actual = more.actual;
  if (more.detail !== undefined) event.detail = String(more.detail).slice(0, DETAIL);
  tell(event);
}

export function stage(name) {
  tell({ type: 'stage', stage: name, logical_key: journeyKey() });
}

// FNV-1a (32 bits) of "SEED:ITERATION" seeds mulberry32. Here and below the journey at hand is meant if none is named.
export function rng(iteration = exec.scenario.iterationInTest) {
  let state = 0x811c9dc5;
  for (const letter of `${__ENV.LT_SEED || 0}:${iteration}`) {
    state = Math.imul(state ^ letter.charCodeAt(0), 0x01000193);
  }
  return function () {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

let pool;

export function poolItem(index = exec.scenario.iterationInTest) {
  if (pool === undefined) pool = parsed('LT_FIXTURE_POOL_JSON');
  if (!Array.isArray(pool)) throw new Error('there is no pool: the scenario has none, and its setup gave none');
  if (!Number.isInteger(index) || index < 0 || index >= pool.length) {
    throw new Error(`the pool has ${pool.length} items, and none is number ${index}`);
  }
  return pool[index];
}

const tokens = {};

export function tokenFor(actorClass, index = exec.scenario.iterationInTest) {
  const name = actorClass.toUpperCase().replace(/[^A-Z0-9]+/g, '_').replace(/^_+|_+$/g, '');
  if (!(name in tokens)) {
    const several = parsed(`LT_TOKENS_${name}`);
    const one = __ENV[`LT_TOKEN_${name}`];
    tokens[name] = several || (one ? [one] : []);
  }
  const own = tokens[name];
  if (own.length === 0) throw new Error(`there is no token for the actor class ${actorClass}`);
  return own[index % own.length];
}

export function hmacSha256Hex(secret, data) {
  return crypto.hmac('sha256', secret, data, 'hex');
}

export function hmacSha256Base64(secret, data) {
  return crypto.hmac('sha256', secret, data, 'base64');
}

// The order of keys does not count, that of items does. NaN equals NaN; a key that is undefined is not one that is missing.
export function deepEqual(one, other) {
  if (one === other) return true;
  if (typeof one === 'number' && typeof other === 'number') return Number.isNaN(one) && Number.isNaN(other);
  if (one === null || other === null || typeof one !== 'object' || typeof other !== 'object') return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => Object.prototype.hasOwnProperty.call(other, key) && deepEqual(one[key], other[key]));
}
