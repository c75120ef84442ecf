-- Starts hybrid-lsp in any Neovim since 0.7: require("hybrid").setup(). Neovim 0.11 has lsp/hybrid.lua read by vim.lsp.enable.
local M = {}
local clients = {} -- by root folder

--- The nearest folder above a file that holds `.git`, or the file's own.
local function root_of(file)
  local folder = vim.fn.fnamemodify(file, ":p:h")
  local git = vim.fn.finddir(".git", folder .. ";")
  return git == "" and folder or vim.fn.fnamemodify(git, ":p:h:h")
end

local function attach(options, buffer)
  local root = root_of(vim.api.nvim_buf_get_name(buffer))
  clients[root] = clients[root]
    or vim.lsp.start_client({ name = "hybrid", cmd = options.cmd or { "hybrid-lsp" }, root_dir = root, on_exit = function() clients[root] = nil end })
  if clients[root] then
    vim.lsp.buf_attach_client(buffer, clients[root])
  end
end

--- `options.cmd` is the command of the server, { "hybrid-lsp" } unless given.
function M.setup(options)
  options = options or {}
  if vim.lsp.enable then
    if options.cmd then
      vim.lsp.config("hybrid", { cmd = options.cmd })
    end
    return vim.lsp.enable("hybrid")
  end
  vim.api.nvim_create_autocmd("FileType", {
    pattern = "hybrid",
    callback = function(event) attach(options, event.buf or vim.api.nvim_get_current_buf()) end,
  })
end

return M
