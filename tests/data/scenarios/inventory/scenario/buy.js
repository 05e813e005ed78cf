// Everybody wants the same console. No helper: a script may read the schedule and the limits by itself.
import http from 'k6/http';
import exec from 'k6/execution';

const shelf = `${__ENV.LT_TARGET}/items/console`;
const phases = JSON.parse(__ENV.LT_SCHEDULE_JSON);
const stages = phases.flatMap(({ seconds, rate }) => [
  { target: rate, duration: '0s' }, { target: rate, duration: `${seconds}s` }]);

export const options = {
  scenarios: {
    spike: {
      executor: 'ramping-arrival-rate',
      startRate: phases[0].rate,
      timeUnit: '1s',
      preAllocatedVUs: Number(__ENV.LT_MAX_IN_FLIGHT),
      maxVUs: Number(__ENV.LT_MAX_IN_FLIGHT),
      stages: [...stages, { target: 1, duration: '0s' }, { target: 1, duration: '500ms' }],
    },
  },
};

function tell(assertion, passed, actual) {
  console.log(`shelf LT_EVENT ${JSON.stringify({ schema_version: 1, type: 'assertion', run_id: __ENV.LT_RUN_ID,
    assertion, passed, logical_key: `buyer-${exec.scenario.iterationInTest}`, actual })} and more text`);
}

export default function () {
  const buyer = `buyer-${exec.scenario.iterationInTest}`;
  const bought = http.post(`${shelf}/buy`, buyer, { tags: { operation: 'buy' } });
  tell('answer-known', bought.status === 201 || bought.status === 409, bought.status);
  const seen = http.get(shelf, { tags: { operation: 'stock' } });
  const least = Math.min(bought.json('left'), seen.json('stock'));
  tell('stock-never-negative', least >= 0, least);
}
