export const agentOptions = {
  isConfigured: 'Set by the agent’s configuration.',
  appliesNext: 'Applies from the agent’s next turn.',
};

export const optionLabel = {
  on: 'On',
  off: 'Off',
};

export const sessionOptions = {
  agentOptions: 'Agent options',
};
