import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';

const browsers = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** The path of an installed Chromium, preferably of the build without windows, which needs a third less CPU; null if there is none. */
export const chromium = browsers.map((name) => `/usr/bin/${name}`).find((path) => existsSync(path)) ?? null;

/** One page of a browser. */
interface Page {
  open(url: string): Promise<void>;
  /** Evaluates an expression in the page and returns its value; awaits a promise. */
  run<T>(expression: string): Promise<T>;
  /** Waits until an expression is truthy; rejects after twenty seconds. */
  waitFor(expression: string): Promise<void>;
  /** Types into the focused element. */
  type(text: string): Promise<void>;
  /** The errors that the page logged: blocked loads and exceptions. */
  readonly consoleErrors: readonly string[];
  close(): Promise<void>;
}

/** Opens a headless browser with its own profile, over the DevTools protocol. */
export async function openPage(): Promise<Page> {
  const profile = await mkdtemp(join(tmpdir(), 'switchyard-browser-'));
  const options = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0'];
  const browser = spawn(chromium as string, [...options, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = new Promise((resolve) => browser.once('exit', resolve));
  const address = await new Promise<string>((resolve, reject) => {
    let output = '';
    browser.stderr.on('data', (data: Buffer) => {
      output += data.toString();
      const [, found] = /DevTools listening on (ws:\S+)/.exec(output) ?? [];
      if (found) resolve(found);
    });
    browser.once('exit', () => reject(new Error(`The browser ended: ${output}`)));
  });
  const socket = new WebSocket(address);
  await new Promise((resolve) => socket.once('open', resolve));
  const waiting = new Map<number, (answer: any) => void>();
  const consoleErrors: string[] = [];
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString());
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
    if (message.method === 'Runtime.exceptionThrown')
      consoleErrors.push(JSON.stringify(message.params.exceptionDetails));
    if (message.method === 'Log.entryAdded' && message.params.entry.level === 'error') {
      consoleErrors.push(message.params.entry.text);
    }
  });
  let count = 0;
  const send = (method: string, params: object, sessionId?: string) =>
    new Promise<any>((resolve, reject) => {
      count += 1;
      waiting.set(count, ({ result, error }) => (error ? reject(new Error(error.message)) : resolve(result)));
      socket.send(JSON.stringify({ id: count, method, params, sessionId }));
    });
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  const ask = (method: string, params: object = {}) => send(method, params, sessionId);
  await Promise.all(['Page.enable', 'Runtime.enable', 'Log.enable'].map((method) => ask(method)));
  const run = async (expression: string) => {
    const { result, exceptionDetails } = await ask('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
    return result.value;
  };
  const waitFor = (expression: string) =>
    run(`new Promise((resolve, reject) => {
      const last = Date.now() + 60000;
      const look = () => {
        if (${expression}) resolve();
        else if (Date.now() > last) reject(new Error(${JSON.stringify(`Never came: ${expression}`)}));
        else setTimeout(look, 50);
      };
      look();
    })`);
  return {
    run,
    waitFor,
    consoleErrors,
    async open(url) {
      await ask('Page.navigate', { url });
      await waitFor(`document.readyState === 'complete' && location.href !== 'about:blank'`);
    },
    type: (text) => ask('Input.insertText', { text }),
    async close() {
      // Not by a signal: Debian's program is a script, which would end without the browser.
      await send('Browser.close', {});
      await exited;
      socket.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
