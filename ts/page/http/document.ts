/** The document of the page. It contains no data. */
export const DOCUMENT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>agent-bash</title>
<link rel="stylesheet" href="/app.css">
<script type="module" src="/app.js"></script>
</head>
<body>
<div id="page"></div>
<noscript><p class="notice">This page shows live commands, which needs JavaScript.</p></noscript>
</body>
</html>
`;
