func.func @forward(%a: tensor<2x11xf32> {hybrid.name = "a", test.range = [-0.3, 0.0]}, %b: tensor<2x11xf32> {hybrid.name = "b"}, %re: tensor<2x11xf32> {hybrid.name = "re"}, %im: tensor<2x11xf32> {hybrid.name = "im"}) -> (tensor<5x11xf32> {hybrid.name = "h"}) {
  %h = hybrid.modal_filter %a, %b, %re, %im to [5] : tensor<2x11xf32> -> tensor<5x11xf32>
  return %h : tensor<5x11xf32>
}
// -----
func.func @forward(%a: tensor<3x9xf32> {hybrid.name = "a", test.range = [-0.3, 0.0]}, %b: tensor<3x9xf32> {hybrid.name = "b"}, %re: tensor<3x9xf32> {hybrid.name = "re"}, %im: tensor<3x9xf32> {hybrid.name = "im"}) -> (tensor<70x9xf32> {hybrid.name = "h"}) {
  %h = hybrid.modal_filter %a, %b, %re, %im to [70] : tensor<3x9xf32> -> tensor<70x9xf32>
  return %h : tensor<70x9xf32>
}
// -----
func.func @forward(%a: tensor<2x8xf32> {hybrid.name = "a", test.range = [-0.3, 0.0]}, %b: tensor<2x8xf32> {hybrid.name = "b"}, %re: tensor<2x8xf32> {hybrid.name = "re"}, %im: tensor<2x8xf32> {hybrid.name = "im"}) -> (tensor<130x8xf32> {hybrid.name = "h"}) {
  %h = hybrid.modal_filter %a, %b, %re, %im to [130] : tensor<2x8xf32> -> tensor<130x8xf32>
  return %h : tensor<130x8xf32>
}
