-- Neovim 0.11: vim.lsp.enable("hybrid") reads this file from the runtime path.
return {
  cmd = { "hybrid-lsp" },
  filetypes = { "hybrid" },
  root_markers = { ".git" },
}
