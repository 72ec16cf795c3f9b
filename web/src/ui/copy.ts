import { useToasts } from './toasts.tsx';

/** Whether a text has been copied: browsers give pages that come by plain http from another host no clipboard. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Copies a text, and says so; where the browser does not allow that, it is shown instead. */
export function useCopy(): (text: string) => Promise<void> {
  const toasts = useToasts();
  return async (text) => {
    if (await copyText(text)) toasts.say('Copied.');
    else toasts.fail(`This browser does not let the page copy. Here it is: ${text}`);
  };
}

/** A request with a JSON body, for a shell; the header is in double quotes, so that it may name a variable. */
export function asCurl(address: string, header: string, body: object): string {
  return [
    `curl -s ${address}`,
    `-H "${header}"`,
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify(body)}'`,
  ].join(' \\\n  ');
}
