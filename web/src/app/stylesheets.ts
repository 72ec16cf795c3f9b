const failed = new Set<HTMLLinkElement>();
let reloading: Promise<unknown> = Promise.resolve();

// An error of a link does not bubble.
document.addEventListener(
  'error',
  ({ target }) => {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') failed.add(target);
  },
  true,
);

/**
 * Requests the stylesheets that failed to load again: the loader of a page's parts requests each only once, also if that request
 * fails. Rejects if one fails again.
 */
export function reloadFailedStylesheets(): Promise<unknown> {
  const links = [...failed];
  failed.clear();
  reloading = Promise.all([reloading, ...links.map(replace)]);
  const mine = reloading;
  reloading = reloading.catch(() => undefined);
  return mine;
}

function replace(link: HTMLLinkElement): Promise<void> {
  const next = link.cloneNode() as HTMLLinkElement;
  const loaded = new Promise<void>((resolve, reject) => {
    next.addEventListener('load', () => resolve());
    next.addEventListener('error', () => reject(new Error(`The stylesheet ${next.href} did not load.`)));
  });
  if (link.isConnected) link.replaceWith(next);
  else document.head.append(next);
  return loaded;
}
