// Starts hybrid-lsp and hands it what is edited.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const settings = workspace.getConfiguration("hybrid");
  const folders = settings.get("modelsFolders").flatMap((folder) => ["-I", folder]);
  client = new LanguageClient(
    "hybrid",
    "Hybrid",
    { command: settings.get("server"), args: folders },
    { documentSelector: [{ scheme: "file", language: "hybrid" }] },
  );
  return client.start();
};

exports.deactivate = () => client?.stop();
