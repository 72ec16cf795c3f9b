import { renderGraphiQL } from '@graphql-yoga/render-graphiql';

/** Whether a request is a browser's that opens the address, and no operation. */
export function wantsExplorer(request: Request): boolean {
  const isBrowser = request.headers.get('accept')?.includes('text/html') ?? false;
  const { searchParams } = new URL(request.url);
  return request.method === 'GET' && isBrowser && !searchParams.has('query') && !searchParams.has('documentId');
}

/** The explorer. The page itself holds nothing of anybody's, and needs no token; what it sends does. */
export function explorer(): Response {
  const html = renderGraphiQL({
    endpoint: '/graphql',
    title: 'Switchyard',
    subscriptionsProtocol: 'SSE',
    // Letters that a header can hold: the page sends them before anyone has put a token there.
    headers: '{\n  "Authorization": "Bearer put-a-token-here"\n}',
  });
  return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } });
}
