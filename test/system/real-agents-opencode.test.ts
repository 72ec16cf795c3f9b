import { tellStory } from '../support/real-agent-story.ts';
import { findOpencode } from '../support/real-agents.ts';

tellStory(findOpencode());
