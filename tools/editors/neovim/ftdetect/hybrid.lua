-- vim.filetype.add is only asked by default since Neovim 0.8.
vim.cmd("autocmd BufRead,BufNewFile *.hyb setfiletype hybrid")
