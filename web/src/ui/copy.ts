import { copy as texts } from '../texts/ui.ts';
import { useToasts } from './toasts.tsx';

/** Copies a text; false if the browser has no clipboard, as on pages served by plain http from another host. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Copies a text and confirms it; if the browser does not allow that, shows the text instead. */
export function useCopy(): (text: string) => Promise<void> {
  const toasts = useToasts();
  return async (text) => {
    if (await copyText(text)) toasts.say(texts.copied);
    else toasts.fail(texts.copyRefused({ text }));
  };
}

/** A curl command with a JSON body. The header is in double quotes, so that it may name a variable. */
export function asCurl(address: string, header: string, body: object): string {
  return [
    `curl -s ${address}`,
    `-H "${header}"`,
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify(body)}'`,
  ].join(' \\\n  ');
}
