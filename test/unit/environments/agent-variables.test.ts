import { expect, it } from 'vitest';
import type { AgentProfile } from '../../../src/agents/agent.ts';
import { agentVariables } from '../../../src/domain/execution/environments/environment-variables.ts';
import type { RunEnvironment } from '../../../src/domain/execution/environments/run-environment.ts';

const forAgent = (env: Record<string, string>, own: Record<string, string> = {}) => {
  const environment = { environments: [{ definition: { env } }] } as unknown as RunEnvironment;
  return Object.keys(agentVariables(environment, { env: { MODEL: 'a' } } as unknown as AgentProfile, { env: own }));
};

it.each(['STAGE', 'NODE_ENV', 'PORT', 'DATABASE_URL', 'AWS_REGION', 'AWS_DEFAULT_REGION', 'CI'])(
  'gives %s to the agent',
  (name) => {
    expect(forAgent({ [name]: 'x' })).toEqual([name]);
  },
);

// OPENSSL_CONF names a library that every node loads; AZURE_RESOURCE_NAME is a part of the host that gets the key.
it.each([
  ...['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'OPENSSL_CONF', 'OPENSSL_MODULES', 'GCONV_PATH', 'PYTHONPATH'],
  ...['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'OPENAI_BASE_URL', 'MY_API_BASE', 'SSL_CERT_FILE'],
  ...['AZURE_RESOURCE_NAME', 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME', 'AWS_CONFIG_FILE', 'OLLAMA_HOST', 'GIT_DIR'],
])('does not give %s to the agent', (name) => {
  expect(forAgent({ [name]: 'x' })).toEqual([]);
});

it('replaces no variable of the profile, the secrets or the service', () => {
  expect(forAgent({ MODEL: 'x', TOKEN: 'x', STAGE: 'x' }, { TOKEN: 'own' })).toEqual(['STAGE']);
});
