import type { EventEntry } from './event-entry.ts';

/** The event types of agents, of the models behind them and of those who talk to them. */
export const AGENT_EVENTS = {
  'agent.reasoned': { text: 'An agent finished a step of reasoning.' },
  'agent.reasoning-delta': {
    nameInMajor1: 'agent.reasoning.delta',
    text: 'An agent produced a part of its reasoning.',
  },
  'agent.prompt-resolved': { nameInMajor1: 'agent.promptResolved', text: 'The prompt of an agent was resolved.' },
  'agent.tool-called': { nameInMajor1: 'agent.toolCalled', text: 'An agent called a tool.' },
  'agent.tool-returned': { nameInMajor1: 'agent.toolReturned', text: 'A tool returned its result to an agent.' },
  'agent.handoff': { text: 'An agent handed the work to another agent.' },
  'agent.decided': { text: 'An agent made a decision.' },
  'agent.verified': { text: 'The work of an agent was verified.' },
  'agent.invocation-started': { nameInMajor1: 'agent.invocation.started', text: 'An invocation of an agent began.' },
  'agent.invocation-completed': {
    nameInMajor1: 'agent.invocation.completed',
    text: 'An invocation of an agent ended.',
  },
  'agent.memory-consolidated': {
    nameInMajor1: 'agent.memory.consolidated',
    text: 'The memory of an agent was consolidated.',
  },
  'provider.usage': { text: 'A model provider reported the usage of a call.' },
  'prompt.composed': { text: 'A prompt was composed.' },
  'model.capability-substituted': {
    nameInMajor1: 'model.capability.substituted',
    text: 'A missing capability of a model was substituted.',
  },
  'model.capability-insufficient': {
    nameInMajor1: 'model.capability.insufficient',
    text: 'A model lacks a required capability.',
  },
  'envelope.retry-attempted': {
    nameInMajor1: 'envelope.retry.attempted',
    text: 'An answer of a model was asked for again.',
  },
  'envelope.retry-exhausted': {
    nameInMajor1: 'envelope.retry.exhausted',
    text: 'The attempts at an answer of a model were used up.',
  },
  'envelope.refusal': { text: 'A model refused to answer.' },
  'envelope.truncated': { text: 'An answer of a model was cut off.' },
  'envelope.nl-to-format-engaged': {
    nameInMajor1: 'envelope.nlToFormat.engaged',
    text: 'A text of a model was converted to the required format.',
  },
  'envelope.recovery-applied': {
    nameInMajor1: 'envelope.recovery.applied',
    text: 'A broken answer of a model was repaired.',
  },
  'tool.session-opened': { nameInMajor1: 'tool.session.opened', text: 'A session with a tool was opened.' },
  'tool.session-closed': { nameInMajor1: 'tool.session.closed', text: 'A session with a tool was closed.' },
  'conversation.opened': { text: 'A conversation with a person was opened.' },
  'conversation.exchanged': { text: 'A message of a conversation was exchanged.' },
  'conversation.closed': { text: 'A conversation was closed.' },
  'commitment.fired': { text: 'A commitment of an agent became due.' },
  'proposal.created': { text: 'A proposal was created.' },
  'proposal.activated': { text: 'A proposal was activated.' },
  'goal.evaluated': { text: 'A goal was evaluated.' },
  'goal.closed': { text: 'A goal was closed.' },
  'voice.speech-start': { nameInMajor1: 'voice.speech_start', text: 'A person began to speak.' },
  'voice.transcript': { text: 'Speech was transcribed.' },
  'voice.endpoint-candidate': {
    nameInMajor1: 'voice.endpoint_candidate',
    text: 'A person may have finished to speak.',
  },
  'voice.turn-commit': { nameInMajor1: 'voice.turn_commit', text: 'A turn of speech was committed.' },
  'voice.synthesis-chunk': { nameInMajor1: 'voice.synthesis_chunk', text: 'A part of the spoken answer was produced.' },
  'voice.barge-in': { nameInMajor1: 'voice.barge_in', text: 'A person interrupted the spoken answer.' },
  'voice.cancelled': { text: 'A spoken answer was cancelled.' },
} as const satisfies Readonly<Record<string, EventEntry>>;
