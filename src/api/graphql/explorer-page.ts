/** The initial query of the explorer. */
const welcome = `# Put your token into the field at the top,
# then run this: Ctrl-Enter.
# Ctrl-Space completes what you type; the book
# on the left has all types and fields.

query Start {
  viewer {
    principalType
    enterprisePermissions
  }
  organizations(first: 5) {
    nodes {
      viewerPermissions
      organizationId
      name
      sessions(first: 10) {
        nodes {
          sessionId
          title
          status
          statusDetail
        }
      }
    }
  }
}
`;

/** The page, which is the same for everybody. Its assets are under the path `assets` of this service. */
export function explorerHtml(assets: string): string {
  return `<!doctype html>
<html lang="en" data-assets="${assets}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Switchyard GraphQL</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}/graphiql.css">
<link rel="stylesheet" href="${assets}/page.css">
</head>
<body>
<form id="key" autocomplete="off">
<label for="token">Token</label>
<input id="token" type="password" autocomplete="off" spellcheck="false" placeholder="cog_… or apk_…" autofocus>
<button>Use</button>
<output id="said">Nothing is sent without a token. Only this page keeps the token, until you close or reload the page.</output>
</form>
<main id="root"></main>
<noscript>This page needs JavaScript.</noscript>
<script src="${assets}/graphiql.js"></script>
<script src="${assets}/page.js"></script>
</body>
</html>
`;
}

/** Styles in addition to GraphiQL's own. */
export const explorerStyle = `html, body { margin: 0; height: 100%; }
body { display: flex; flex-direction: column; font-family: system-ui, sans-serif; font-size: 14px; }
#key { display: flex; gap: 0.6rem; align-items: center; padding: 0.5rem 1rem; background: #1b1f24; color: #fff; }
#token { width: 22rem; max-width: 40vw; padding: 0.3rem 0.5rem; font-family: monospace; }
#said { color: #c9d1d9; }
#said.wrong { color: #ffa198; }
#root { flex: 1; min-height: 0; }
#root .graphiql-container { width: 100%; height: 100%; }
`;

/**
 * The script of the page. It keeps the token in a local variable only. The editor's content survives a reload but not
 * the tab, because queries may contain secrets; nothing of it goes into the URL.
 */
export const explorerScript = `(() => {
const assets = document.documentElement.dataset.assets;
const form = document.getElementById('key');
const field = document.getElementById('token');
const said = document.getElementById('said');

// Earlier versions of this page stored tokens and texts there.
for (const name of Object.keys(localStorage)) if (name.startsWith('graphiql:')) localStorage.removeItem(name);

// Removes a query from the address: it may be in the history already, but goes no further.
const asked = new URL(location.href).searchParams.get('query');
if (location.search) history.replaceState({}, '', location.pathname);

let token = null;
let tokenGiven;
const untilToken = new Promise((resolve) => { tokenGiven = resolve; });

const send = globalThis.fetch;
const withToken = (init, asked = new URLSearchParams()) => {
  const headers = new Headers(init?.headers);
  if (!headers.has('authorization')) headers.set('authorization', 'Bearer ' + token);
  if (!asked.has('query')) return send('/graphql', { ...init, headers });
  // GraphiQL puts a subscription and its variables into the address, which servers and proxies write to their logs.
  headers.set('content-type', 'application/json');
  const read = (name) => (asked.get(name) ? JSON.parse(asked.get(name)) : undefined);
  const body = { query: asked.get('query'), operationName: asked.get('operationName') ?? undefined, variables: read('variables') };
  return send('/graphql', { ...init, method: 'POST', headers, body: JSON.stringify(body) });
};
const answer = (message) => Response.json({ errors: [{ message }] });
// GraphiQL sends its requests with this: for the schema at once, and for the user's operations.
globalThis.fetch = async (address, init) => {
  const { pathname, origin, searchParams } = new URL(address, location.href);
  if (origin !== location.origin || pathname !== '/graphql') return send(address, init);
  const isReaders = new Headers(init?.headers).has('authorization');
  if (token === null && !isReaders) {
    if (!String(init?.body).includes('IntrospectionQuery') || searchParams.has('query')) {
      field.focus();
      return answer('Put your token into the field at the top of the page first.');
    }
    await untilToken;
  }
  return withToken(init, searchParams);
};

const say = (text, isWrong) => {
  said.textContent = text;
  said.className = isWrong ? 'wrong' : '';
};

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const given = field.value.trim().replace(/^Bearer\\s+/i, '');
  // Headers allow no other characters.
  if (!/^[\\x21-\\x7e]+$/.test(given)) return say('A token is one word that begins with cog_ or apk_.', true);
  const isFirst = token === null;
  token = given;
  try {
    const body = JSON.stringify({ query: '{ viewer { principalType user { name } serviceUser { name } } }' });
    const response = await withToken({ method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const { data, errors } = await response.json();
    if (!data?.viewer) {
      token = isFirst ? null : token;
      if (response.status === 401) return say('The token is unknown, expired or revoked.', true);
      return say(errors?.[0]?.message ?? 'The service answered ' + response.status + '.', true);
    }
    const { principalType, user, serviceUser } = data.viewer;
    const name = (user ?? serviceUser)?.name;
    say('Signed in as ' + principalType + (name ? ' "' + name + '"' : '') + '. Reload the page to forget the token.');
    tokenGiven();
    // The schema may differ between tokens.
    if (!isFirst) document.querySelector('button[aria-label^="Re-fetch GraphQL schema"]')?.click();
  } catch (error) {
    say('The service could not be reached: ' + error.message, true);
  }
});

const workers = { editorWorkerService: 'editor.worker.js', json: 'json.worker.js', graphql: 'graphql.worker.js' };
globalThis.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_module, label) => assets + '/' + workers[label],
};

YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), {
  endpoint: '/graphql',
  title: 'Switchyard',
  logo: '<span></span>',
  subscriptionsProtocol: 'SSE',
  defaultQuery: ${JSON.stringify(welcome)},
  ...(asked ? { query: asked } : {}),
  shouldPersistHeaders: false,
  storage: sessionStorage,
  // Replaces a handler that writes each edit into the address.
  onEditQuery() {},
});
})();
`;
