import { beforeAll, describe, expect, it } from 'vitest';
import { missing, seriousFindings, useConsole } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';

/** An image of one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "taken"</script></svg>';

describe.skipIf(missing !== null)('the images of a message', { timeout: 240_000 }, () => {
  const service = useConsole();
  let id: string;
  beforeAll(async () => {
    const { test } = service;
    const { organizationId } = test;
    const send = async (name: string, content: string | Buffer) => {
      const { attachmentUpload } = await runMutation(test, 'createAttachmentUpload', 'attachmentUpload { url }', {
        organizationId,
      });
      const form = new FormData();
      form.append('file', new Blob([new Uint8Array(Buffer.from(content))]), name);
      const response = await fetch(attachmentUpload.url, { method: 'POST', body: form });
      return ((await response.json()) as { attachment_id: string }).attachment_id;
    };
    const attachmentIds = [
      await send('red.png', png),
      await send('drawing.svg', svg),
      await send('broken.png', 'no image'),
      await send('notes.txt', 'text'),
    ];
    const input = { organizationId, prompt: 'Look at these', attachmentIds };
    const { session, userErrors } = await runMutation(test, 'createSession', 'session { sessionId }', input);
    expect(userErrors).toEqual([]);
    id = session.sessionId;
  });

  it('are shown small and open on a click; other files are names', async () => {
    const window = await service.open(`/sessions/${id}`);
    const { page } = window;
    const files = page.getByRole('list', { name: 'Files', exact: true }).first();
    const image = files.getByRole('img', { name: 'red.png' });
    await image.waitFor();
    const colour = await image.evaluate((canvas) => [
      ...((canvas as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, 1, 1).data ?? []),
    ]);
    expect(colour[3]).toBeGreaterThan(0);
    const { width = 0, height = 0 } = (await image.boundingBox()) ?? {};
    expect([width <= 240, height <= 160]).toEqual([true, true]);
    for (const name of ['drawing.svg', 'broken.png', 'notes.txt']) {
      await files.getByRole('link', { name, exact: true }).waitFor();
      expect(await files.getByRole('img', { name }).count(), name).toBe(0);
    }
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('session-sent-images');
    const opened = page.waitForEvent('popup');
    await files.getByRole('link', { name: 'red.png' }).click();
    expect(new URL((await opened).url()).pathname).toMatch(/\/attachments\/[0-9a-f]{32}\/red\.png$/);
    expect(await page.title()).not.toBe('taken');
    expect({ errors: window.consoleErrors, foreign: window.foreign }).toEqual({ errors: [], foreign: [] });
  });
});
