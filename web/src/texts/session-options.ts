export const agentOptions = {
  isConfigured: 'The configuration of the agent sets this.',
  appliesNext: 'Applies when the agent next starts a turn.',
};

export const optionLabel = {
  on: 'On',
  off: 'Off',
};

export const sessionOptions = {
  agentOptions: 'Agent options',
};
