// Requests as the shop wants them: a GET signed by its path in hex, a PUT by its body in Base64.
import { hmacSha256Base64, hmacSha256Hex } from '../litetraffic/runtime.js';

const shop = __ENV.LT_TARGET;
const key = __ENV.SHOP_KEY;

export function search(word, page, signature) {
  const path = `/search?q=${word}&page=${page}`;
  return { method: 'GET', url: shop + path,
    params: { headers: { 'X-Signature': signature || hmacSha256Hex(key, path) }, tags: { operation: 'search' } } };
}

export function reprice(id, price) {
  const body = JSON.stringify({ price });
  return { method: 'PUT', url: `${shop}/products/${id}`, body,
    params: { headers: { 'X-Signature': hmacSha256Base64(key, body) }, tags: { operation: 'reprice' } } };
}

export function unsigned(request, operation) {
  return { ...request, params: { headers: { 'X-Signature': 'none' }, tags: { operation } } };
}
