import type { Answer, HttpCall } from './operation.ts';
import { encodedWords } from './rows.ts';
import type { World } from './world.ts';

/** Sends a call as whoever has the token; null: nobody. */
export async function send(world: World, token: string | null, call: HttpCall): Promise<Answer> {
  const { method, path, body } = call;
  const response = await fetch(world.test.url + path, {
    method,
    redirect: 'manual',
    headers: {
      'accept-encoding': 'identity',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(call.form === undefined ? {} : { body: formOf(call.form) }),
  });
  const headers = [...response.headers].filter(([name]) => name !== 'date').map((each) => each.join(': '));
  return { status: response.status, text: await response.text(), headers: headers.join('\n') };
}

function formOf(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, text] of Object.entries(fields)) form.append(name, new Blob([text]), 'walk.txt');
  return form;
}

/** An answer without what was sent, and without ids, tokens and times of its own. */
export function comparable(answer: Answer, sent: readonly string[]): string {
  let text = `${answer.status} ${answer.text}`;
  for (const each of sent) text = text.replaceAll(each, '«sent»').replaceAll(encodeURIComponent(each), '«sent»');
  text = text.replace(encodedWords, (word) => {
    const decoded = Buffer.from(word, 'base64').toString('latin1');
    return sent.some((each) => decoded.includes(each))
      ? '«sent»'
      : /^[A-Za-z]{2,40}[:|.]/.test(decoded)
        ? '«opaque»'
        : word;
  });
  return text
    .replace(/(?:apk_user_|apk_|cog_)[a-z0-9]{4}[a-z0-9…]*/g, '«token»')
    .replace(/[0-9a-f]{32}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, '«id»')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '«time»')
    .replace(/\b\d{10,13}\b/g, '«time»');
}
