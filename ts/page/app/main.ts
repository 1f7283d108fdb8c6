document.title = 'agent-bash';
