import { exchangeJson, type HttpAnswer } from '../support/http-client.ts';
import type { Answer, HttpCall } from './operation.ts';
import { encodedRuns } from './rows.ts';
import type { World } from './world.ts';

/** Sends a call with a token; null: without one. */
export async function send(world: World, token: string | null, call: HttpCall): Promise<Answer> {
  const { method, path, body, form } = call;
  const url = world.test.url + path;
  const requestHeaders = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...call.headers };
  const { status, text, headers } = form
    ? await sendForm(url, method, requestHeaders, form)
    : await exchangeJson(url, method, requestHeaders, body);
  const received = [...headers]
    .filter(([name]) => name !== 'date' && name !== 'x-request-id')
    .map((each) => each.join(': '));
  return { status, text, headers: received.join('\n') };
}

async function sendForm(
  url: string,
  method: string,
  requestHeaders: Readonly<Record<string, string>>,
  form: Readonly<Record<string, string>>,
): Promise<HttpAnswer> {
  const headers = { 'accept-encoding': 'identity', ...requestHeaders };
  const response = await fetch(url, { method, redirect: 'manual', headers, body: formOf(form) });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

function formOf(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, text] of Object.entries(fields)) form.append(name, new Blob([text]), 'walk.txt');
  return form;
}

/** A response without the values of the request, and without its own ids, tokens and times. */
export function comparable(answer: Answer, sent: readonly string[]): string {
  let text = `${answer.status} ${answer.text}`;
  for (const each of sent) text = text.replaceAll(each, '«sent»').replaceAll(encodeURIComponent(each), '«sent»');
  text = text.replace(encodedRuns, (word) => {
    const decoded = Buffer.from(word, 'base64').toString('latin1');
    return sent.some((each) => decoded.includes(each))
      ? '«sent»'
      : /^[A-Za-z]{2,40}[:|.]/.test(decoded)
        ? '«opaque»'
        : word;
  });
  return text
    .replace(/(?:apk_user_|apk_|cog_)[a-z0-9]{4}[a-z0-9…]*/g, '«token»')
    .replace(/(?<=\?state=)[a-z2-7]{52}/g, '«state»')
    .replace(/[0-9a-f]{32}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, '«id»')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '«time»')
    .replace(/\b\d{10,13}\b/g, '«time»');
}
